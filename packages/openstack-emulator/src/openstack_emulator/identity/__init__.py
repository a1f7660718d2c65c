"""Keystone, Identity API v3: who may ask, and where everything is.

`records` holds users, projects, roles and who has which; `seed` what a new cloud contains; `passwords` hashing.
`authentication` turns credentials and a scope into a token; `tokens` issues, checks and revokes; `catalog` tells
where services are. `entity` is what all kinds of objects have in common, with `validation` for what requests may
say, `policy` for who may, `lists` for filters and pages, and `removal` for what goes along with what; `projects`,
`people`, `roles`, `places` and `consumers` describe the kinds, `domain_config` what domains may have of their own,
`endpoint_filter` which endpoints projects see. `grants` and `assignments` are about roles given, `trusts`,
`application_credentials` and `credentials` about letting others act, `ec2_tokens` and `signatures` about requests
signed the way of AWS, `limits` about unified limits. `keystone` is the table of it all.
"""
