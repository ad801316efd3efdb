"""The program of the project ${PROJECT}."""

import pulumi

pulumi.export("greeting", f"Hello from {pulumi.get_stack()}")
