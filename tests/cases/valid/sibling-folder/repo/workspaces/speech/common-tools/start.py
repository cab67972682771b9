import decoder
