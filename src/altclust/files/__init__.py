"""Files on disk: atomic writing, .npy and .npz readers, the archive of saved models."""
