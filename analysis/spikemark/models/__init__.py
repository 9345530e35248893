"""Models of where the time goes. Each cites its source by key and equation.

L26: Lober, Diesmann, Kunkel 2026, arXiv 2602.23274.
"""
