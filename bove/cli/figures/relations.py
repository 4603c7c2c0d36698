"""`bove figures relations`: the singular values of a model's relation matrices."""

import csv
import io

import numpy as np

from bove.cli.outputs import write_files
from bove.evaluate.plot_model import Spectrum, draw_spectra
from bove.evaluate.plots import figure_files
from bove.factor.model import Model
from bove.factor.spectra import effective_rank, needed, singular_values

ENERGIES = (0.9, 0.99)


def register(parser) -> None:
    parser.add_argument("--model", required=True, help="model.safetensors")
    parser.add_argument(
        "--output", required=True, help="folder that gets relations.csv, relations.svg and relations.png"
    )


def run(args) -> None:
    """Write the three files, each whole."""
    model = Model.load(args.model)
    values = singular_values(model.relations)
    spectra = [
        Spectrum(name, of_relation, effective_rank(of_relation))
        for name, of_relation in zip(model.relation_names, values, strict=True)
    ]
    stream = io.StringIO()
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(["relation", "norm", "effective_rank", *(f"for_{e:g}_of_energy" for e in ENERGIES)])
    for spectrum in spectra:
        norm = float(np.linalg.norm(spectrum.values))
        counts = [needed(spectrum.values, energy) for energy in ENERGIES]
        table.writerow([spectrum.name, repr(norm), repr(spectrum.effective_rank), *counts])
    contents = {"csv": stream.getvalue()} | figure_files(draw_spectra, spectra)
    write_files(args.output, {f"relations.{kind}": content for kind, content in contents.items()})
