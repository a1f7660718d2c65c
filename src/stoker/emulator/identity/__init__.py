"""Keystone, Identity API v3: who may ask, and where everything is.

`records` holds users, projects, roles and who has which; `seed` what a new cloud contains; `passwords` hashing;
`authentication` turns credentials and a scope into a token; `tokens` issues, checks and revokes; `catalog` tells
where services are; `routes` is the table.
"""
