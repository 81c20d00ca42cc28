"""What JSON Schema cannot say about requests, and Schemathesis therefore cannot know."""
