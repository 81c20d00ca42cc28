//! Every page: everybody can use it, and a picture of it when one is asked for.
