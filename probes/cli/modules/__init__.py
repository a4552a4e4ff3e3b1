"""torch.nn modules as rows of the matrix: exported once, at release, where torch is."""
