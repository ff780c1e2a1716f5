"""Records what Tenuto sends and hands on, so that two trees can be compared. See README.md."""
