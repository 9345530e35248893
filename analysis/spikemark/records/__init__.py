"""What runs leave behind: plans, results folders, run records, and the tables made from them."""
