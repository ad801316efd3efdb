"""Policy packs, as `policy_packs` and `policy_pack_configs` name them."""

import json
import os
import shutil
import unittest
from pathlib import Path

from pulumi.automation import CommandError

from shop import Shop, folder, items


def pack():
    """A folder with the pack that writes down what it is asked."""
    made = folder("packs") / "witness"
    shutil.copytree(Path(__file__).parents[2] / "policy_packs" / "witness_python", made)
    virtualenv = os.environ["DRYSTONE_PEER_PYTHON_POLICY"]
    project = f"runtime:\n  name: python\n  options: {{ virtualenv: {virtualenv} }}\n"
    (made / "PulumiPolicy.yaml").write_text(project)
    return str(made)


class Policies(unittest.TestCase):
    def test_a_stack_is_held_to_a_policy_pack(self):
        shop = Shop(items(a={"size": 50, "tags": {"x": "y"}}))
        up = shop.stack.up(policy_packs=[pack()])
        self.assertEqual(up.summary.result, "succeeded")
        self.assertEqual(shop.world.calls("create")[0]["inputs"]["size"], 10)
        self.assertEqual(len(shop.world.calls("policy stack")), 1)

    def test_a_mandatory_policy_fails_a_preview_and_an_update_and_settings_make_it_milder(self):
        shop = Shop(items(a={"kind": "evil"}))
        held, events = pack(), []
        for command in (shop.stack.preview, shop.stack.up):
            with self.assertRaises(CommandError):
                command(policy_packs=[held], on_event=events.append)
        broken = [event.policy_event for event in events if event.policy_event]
        mandatory = [event.policy_name for event in broken if event.enforcement_level == "mandatory"]
        self.assertEqual(mandatory, ["kind", "kind"])
        self.assertEqual(shop.world.names(), [])
        settings = Path("settings.json").resolve()
        settings.write_text(json.dumps({"kind": "advisory"}))
        shop.stack.up(policy_packs=[held], policy_pack_configs=[str(settings)])
        self.assertEqual(shop.world.names(), ["a"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
