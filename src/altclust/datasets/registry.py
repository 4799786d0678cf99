"""The files of the loaders: their names in the cache, their checksums and their URLs."""

from dataclasses import dataclass

ORIGIN = "https://raw.githubusercontent.com/neu-spiral/ISM/a4aae10f71f77ec01342446259834aba567e7211/data_sets"
"""The data folder of the paper's authors (MIT licence), at the commit of the checksums."""

REPOSITORY = "https://github.com/neu-spiral/ISM"
"""The repository's web page."""


@dataclass(frozen=True)
class RegisteredFile:
    """One file: its SHA-256 checksum, and its path below :data:`ORIGIN` or None if it has no download."""

    sha256: str
    remote: str | None


REGISTRY: dict[str, RegisteredFile] = {
    "faces.csv": RegisteredFile("c5ac575288bd41109e2acce03fbed27c2b8726645bba19b761463bf4c8f40e7f", "face_624_20.csv"),
    "faces_identity.csv": RegisteredFile(
        "6ad5de95bdcad43dbc050740292d88472c4a814393b94ac9df912197e53e2311", "face_624_20_original_label.csv"
    ),
    "faces_pose.csv": RegisteredFile(
        "be302431921cfd670f56d13e14bc08905fc3d7eaed3da6cfa8c6b28e3298b7ea", "face_624_20_alt_label.csv"
    ),
    "flower.png": RegisteredFile("a36a0f73d6f6ffdb3efd67facc1b95413b1bef63f7dba79f913cd1d459c6525f", "Flower2.png"),
    "flower_106.png": RegisteredFile("7d7c699fbcc35df8358b5572f81aad6a996ade247b9ed170ee207c21e5357fcc", "Flower3.png"),
    "growth/Dimond_gaussians_128_64.csv": RegisteredFile(
        "4bb0a33fac291a10f57d6def6614ca14889aa0c9848baa6a92ce3ff156828b3b", "Dimond_gaussians_128_64.csv"
    ),
    "growth/Dimond_gaussians_128_128.csv": RegisteredFile(
        "baf34e5088785cfd255a1f8e1aa009253ee0c33f5875199d070c603885e30b3e", "Dimond_gaussians_128_128.csv"
    ),
    "growth/Dimond_gaussians_128_256.csv": RegisteredFile(
        "8c13b8c91c3f41c80a4d563b2af5558bb6ecaf2d54694dc89d41f611688253c7", "Dimond_gaussians_128_256.csv"
    ),
    "growth/Dimond_gaussians_128_512.csv": RegisteredFile(
        "98b12686407ab84b6f2b26e7f6934b6126fc238a3e765c61b003166141c0b5db", "Dimond_gaussians_128_512.csv"
    ),
    "growth/Dimond_gaussians_128_1024.csv": RegisteredFile(
        "26f553707969fd0a7b65b636f3c8093f1caba87f8ddd8ef9d28c2b1b4cf880ac", "Dimond_gaussians_128_1024.csv"
    ),
    "growth/Dimond_gaussians_128_2048.csv": RegisteredFile(
        "10bac38e6f16fbcdc3819f210140c20ed838a83b21178306135244cb18967454", "Dimond_gaussians_128_2048.csv"
    ),
    "growth/Dimond_gaussians_128_4096.csv": RegisteredFile(
        "ecfd50c3a300c99c675038e1d166d8a4539bae4ebe76cc9c02cbb4cf9abb1818", "Dimond_gaussians_128_4096.csv"
    ),
    "large_gaussian_200.csv": RegisteredFile(
        "3c6e1841d1d8dfc55b1414e27d25a3934e2fd0b87951ac631b7c4f580d7e123b", "Four_gaussian_3D_200.csv"
    ),
    "large_gaussian_200_alternative.csv": RegisteredFile(
        "84296313e57797b9b9b0228bfc428c3333f596b0cea92642adfeba6d3919c3b6",
        "Four_gaussian_3D_200_alt_label.csv",
    ),
    "large_gaussian_200_given.csv": RegisteredFile(
        "9be2ab5b5f601b46077e68da622bc6a9c8b9e41f88efffe6c898eb0dd9ecddb0",
        "Four_gaussian_3D_200_original_label.csv",
    ),
    "large_gaussian_1000.csv": RegisteredFile(
        "7630fdd2f4cb1f454e80fab25e42bd91e573d83980c0f5f49fdeb2d6c169ec16", "Four_gaussian_3D_1000.csv"
    ),
    "large_gaussian_1000_alternative.csv": RegisteredFile(
        "f331bc69e13bc545d0a3169aa7c10da8b47856ba1cd582f1d27dd47562b24140",
        "Four_gaussian_3D_1000_alt_label.csv",
    ),
    "large_gaussian_1000_given.csv": RegisteredFile(
        "3b790b39635453e5f0fd37c218784b4c31e5a66b185960f3e88c3ef8be83ddb3",
        "Four_gaussian_3D_1000_original_label.csv",
    ),
    "moon_400.csv": RegisteredFile(
        "0d9797b9acd8c9a7bfbede7357ffb775ce6ce531e72a992e1fbecd3c7f687c69", "moon_400x4.csv"
    ),
    "moon_400_alternative.csv": RegisteredFile(
        "2fa7d47b9f69a4032155327ce117675555d81ef5e515e0b27e2fee39ff7f8585", "moon_400x4_alt_label.csv"
    ),
    "moon_400_given.csv": RegisteredFile(
        "e716e40caee4ed648f5685fbd538a3515da31073892b202328e5fb50aeaa6d54", "moon_400x4_original_label.csv"
    ),
    "moon_noise_200.csv": RegisteredFile(
        "0f2dbf9b658c3435e8dc54e5cb5ab75f7dac0e0080463301ecef352c0a506694", "moon_200x7.csv"
    ),
    "moon_noise_200_alternative.csv": RegisteredFile(
        "9ffc04a6c3369121b4cd4524151cc0e24ce1d371c199939ca20dbf8e99d6ea31", "moon_200x7_alt_label.csv"
    ),
    "moon_noise_200_given.csv": RegisteredFile(
        "85da124c8ef7f7200a32eaf3fd9189c0be6313812ebbd244621da004c038077e", "moon_200x7_original_label.csv"
    ),
    "moon_noise_1000.csv": RegisteredFile(
        "e7d6bb43e06198587edf4093d024e5f5fe87e14f904c2868e3e39aaf2cb0921e", "moon_1000x7.csv"
    ),
    "moon_noise_1000_alternative.csv": RegisteredFile(
        "63a44411fd6342b9c4429828c16e144a2a11ef5244e25bb60f0ffa8b3ee2ffce", "moon_1000x7_alt_label.csv"
    ),
    "moon_noise_1000_given.csv": RegisteredFile(
        "0481d2cc020e4511bdf81d41350535af4661c0d5e0ac2e19ea4251b81b1c221f", "moon_1000x7_original_label.csv"
    ),
    "small_gaussian.csv": RegisteredFile(
        "42d34e6a68187ea7937b9c7813537f95e1bf96c1954300093943107f0ff2ff00", "data_4.csv"
    ),
    "webkb_139.csv": RegisteredFile(
        "2997b04ff1f5d78c872f5bb03b9deb5c8cd7dec659e6c0b27df3556dfeadcd41", "webkb_processed/min_words.csv"
    ),
    "webkb_500.npz": RegisteredFile("ed830be0adf34e071d2cc4be2fef3c2c38352359715318fcb6329db16cdb4fbb", None),
    "webkb_topic.csv": RegisteredFile(
        "2239516001cc81bd3a6ed330aae20e31561fae2778bff53551aef206f6b14fde",
        "webkb_processed/webkbRaw_label_topic.csv",
    ),
    "webkb_university.csv": RegisteredFile(
        "74a4f40e8446b53616a7e9a913ad097fc3986f5453a90d1d12f11f034baaa08a",
        "webkb_processed/webkbRaw_label_univ.csv",
    ),
}
