"""Property tests of this folder run without a time limit an example: a busy machine is no failure."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
