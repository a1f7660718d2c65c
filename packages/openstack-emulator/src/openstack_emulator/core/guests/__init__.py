"""The guests of servers as services see them: the interface of drivers, who gets a guest, and how guests are wired."""
