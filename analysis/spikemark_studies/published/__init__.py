"""Numbers as they are printed in papers, with what follows from them."""
