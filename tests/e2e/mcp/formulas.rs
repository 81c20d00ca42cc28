//! The tools of the Formula server.
