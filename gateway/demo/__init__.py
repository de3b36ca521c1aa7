"""A hall in small: four boards on pseudo-terminals, the gateway that reads them, and a broker to listen to."""
