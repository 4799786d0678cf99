"""The mathematics: kernels, problem, engines, solvers, alternation, labels of new rows, certificate."""
