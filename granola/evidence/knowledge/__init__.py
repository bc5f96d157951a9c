"""Knowledge texts judged from six sides (CONNER, Chen et al. 2023), chosen by that, and compared with ratings."""
