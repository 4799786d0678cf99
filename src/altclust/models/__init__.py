"""The estimators: KDAC, ViewDiscovery and the baselines; fitting, saving and comparing them."""
