"""Benchmarks of kernels and exchanges on their own."""
