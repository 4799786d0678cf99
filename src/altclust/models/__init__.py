"""The estimators: KDAC and the baselines; fitting, saving and comparing them."""
