"""Small databases on which two queries that agree by luck give different rows. Pure: nothing is run here."""
