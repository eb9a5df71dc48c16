# -*- coding: utf-8 -*-
from setuptools import setup

packages = \
['esque',
 'esque.cli',
 'esque.cli.commands',
 'esque.cli.commands.config',
 'esque.cli.commands.create',
 'esque.cli.commands.delete',
 'esque.cli.commands.describe',
 'esque.cli.commands.edit',
 'esque.cli.commands.get',
 'esque.cli.commands.set_',
 'esque.config',
 'esque.controller',
 'esque.io',
 'esque.io.handlers',
 'esque.io.serializers',
 'esque.resources',
 'esque.ruleparser',
 'esque.validation']

package_data = \
{'': ['*'], 'esque.validation': ['schemas/*']}

install_requires = \
['avro-python3>=1.9,<2.0',
 'click==8.1.3',
 'confluent-kafka[avro]>=1.6,<2.0',
 'fastavro>=1.0,<2.0',
 'kafka-python>=2.0.2,<3.0.0',
 'more-itertools>=8.10.0,<9.0.0',
 'pendulum>=2.0,<3.0',
 'pyyaml>=5.1,<6.0',
 'requests>=2.22,<3.0',
 'toml>=0.10.0,<0.11.0',
 'yamale>=2,<4']

entry_points = \
{'console_scripts': ['esque = esque.cli.commands:esque']}

setup_kwargs = {
    'name': 'esque',
    'version': '0.5.1',
    'description': 'esque - an operational kafka tool.',
    'author': 'real.digital',
    'author_email': 'opensource@real-digital.de',
    'maintainer': None,
    'maintainer_email': None,
    'url': 'https://github.com/real-digital/esque',
    'packages': packages,
    'package_data': package_data,
    'install_requires': install_requires,
    'entry_points': entry_points,
    'python_requires': '>=3.8,<4.0',
}


setup(**setup_kwargs)
