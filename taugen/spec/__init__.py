""".

pydantic asks every installed package for plugins that may change what models accept. A verdict must not depend on what else is installed,
and the search takes as long as building all models. Its core is loaded without types that nobody asks.
"""

from taugen.spec import plugins, shapes

plugins.none()
shapes.load()
