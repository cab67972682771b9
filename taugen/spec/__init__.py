"""tau.yaml as typed values.

In: a document's text. Out: frozen models, findings, what each field means. pydantic asks every installed package for plugins that may
change what models accept: a verdict must not depend on what else is installed, and the search takes as long as building all models. It is
loaded without that, without types that nobody asks, and without methods that nobody calls.
"""

from taugen.spec import methods, plugins, shapes

plugins.none()
shapes.load()
methods.load()
