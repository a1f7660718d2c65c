"""The CloudFormation Query API: requests as forms, signed with access keys, answers in XML or JSON.

Facts: rest_api.json, cfn. It calls the same operations as the REST API.
"""
