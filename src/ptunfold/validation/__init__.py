"""Every check on what a user passes; each message says what was found and what to do."""
