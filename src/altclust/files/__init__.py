"""Files on disk: atomic writing, .npy and .npz readers, the archive that models are saved in."""
