"""Asks real services, with the user's own keys, whether they do what Tenuto's rows say."""
