"""Tenders: a bundle of rules and runs, a bidder's answer to it, and the commitments that follow."""
