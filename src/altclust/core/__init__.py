"""The mathematics: kernels, the problem, engines, solvers, the alternation, labels of new rows, the certificate."""
