"""The CloudFormation Query API: requests as forms, signed with access keys; responses in XML or JSON.

It calls the same operations as the REST API.
"""
