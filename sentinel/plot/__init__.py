"""An incident as a picture: arrays in, a figure out."""
