from importlib.resources import files

import numpy as np

from altclust.datasets import penguins


def test_the_frame_is_the_file():
    frame = penguins(as_frame=True)
    text = files("altclust.datasets").joinpath("penguins.csv").read_text(encoding="utf-8")
    assert frame.to_csv(index=False, lineterminator="\n") == text
    assert frame.shape == (344, 8)
    assert frame.isna().sum().to_dict() == {
        "species": 0,
        "island": 0,
        "bill_length_mm": 2,
        "bill_depth_mm": 2,
        "flipper_length_mm": 2,
        "body_mass_g": 2,
        "sex": 11,
        "year": 0,
    }


def test_the_birds_whose_measurements_and_sex_are_known():
    data = penguins()
    assert data.X.shape == (333, 4)
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous
    assert data.X.flags.writeable
    assert np.isfinite(data.X).all()
    assert data.X[0].tolist() == [39.1, 18.7, 181.0, 3750.0]
    assert data.feature_names == ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")


def test_species_is_given_and_sex_is_the_alternative():
    data = penguins()
    assert data.given is data.labels["species"]
    assert data.alternative is data.labels["sex"]
    assert np.bincount(data.given).tolist() == [146, 68, 119]  # Adelie, Chinstrap, Gentoo
    assert np.bincount(data.alternative).tolist() == [165, 168]  # female, male
    for y in data.labels.values():
        assert y.dtype == np.int64
        assert y.shape == (333,)
    males, females = (data.X[data.alternative == code].mean(axis=0) for code in (1, 0))
    assert (males > females).all()


def test_no_data_folder_is_needed(empty_folder):
    penguins()
    assert not empty_folder.exists()
