"""
The admin client: addresses, connections, time limits, retries and why they fail.

Imports `auth`.
"""
