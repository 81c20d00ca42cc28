//! From laid-out cards to paper.
