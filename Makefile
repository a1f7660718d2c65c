# Everything runs in .venv, which the first target that needs it creates.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
MINUTES ?= 30
SERVICE ?= heat
HALVES  ?= user operator
PLACE   ?= /tmp/stoker-images
IMAGE ?= debian
# One command installs all distributions: they require each other, and are in no index.
EDITABLE = --editable packages/stoker-foundation --editable packages/openstack-emulator \
	--editable 'packages/stoker[all,lsp,mcp,testing,postgresql,mysql]' --editable packages/stoker-kubernetes
CODE = packages contrib conftest.py testing tests tools docs
MANUAL_PAGES = PYTHONPATH=docs/_ext:packages/stoker-heat-commands/src $(BIN)/python -m manual_pages

# Without byte code every process that a test or a benchmark starts would compile each module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test guests guests-community quick coverage attack check check-types check-words check-style check-imports check-manual format plans bench chaos scale mutants conformance playbook rally horizon realcloud console recordings release takeover images heat-plugins docs pictures man vscode clean

$(STAMP): pyproject.toml $(wildcard packages/*/pyproject.toml)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --group test --group check --group docs $(EDITABLE)
	touch $@

demo: $(STAMP)          ## deploy the example on an embedded cloud
	$(BIN)/stoker demo

# Tests that start real processes can miss a deadline while others keep the machine busy. What failed runs again alone,
# and only what fails again fails the target; the first list of failures names the tests to make steadier. Groups of tests
# keep the order that conftest.py gives them.
test: $(STAMP)          ## run every test, then what failed once more, alone
	$(BIN)/pytest -n auto --dist loadgroup --no-loadscope-reorder -rs || $(BIN)/pytest -n 0 --last-failed --last-failed-no-failures none

coverage: $(STAMP)      ## run the tests that start no processes, and fail below the floor of coverage
	$(BIN)/pytest -n auto -m 'not slow' --cov --cov-report=term

quick: $(STAMP)         ## run the tests that start no processes
	$(BIN)/pytest -n auto -m 'not slow' -p no:schemathesis

attack: $(STAMP)        ## attack a running service, and print each attack with its outcome
	$(BIN)/pytest -n 2 --dist loadgroup --attack-table tests/security

check: $(STAMP)         ## format, lint, types, import contracts, words, manual pages
	@$(MAKE) --no-print-directory --jobs=2 --output-sync --keep-going check-types check-words check-style check-imports check-manual

check-types:
	$(BIN)/mypy

check-words:
	$(BIN)/python -m tools.checks

check-style:
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)

check-imports:
	$(BIN)/lint-imports

check-manual:
	$(MANUAL_PAGES) --check

format: $(STAMP)        ## apply the formatter and the safe fixes
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

plans: $(STAMP)         ## write the plans that tests compare with again, and show what changed
	STOKER_REWRITE_PLANS=1 $(BIN)/pytest -q tests/engine/test_golden_plans.py
	git --no-pager diff tests/engine/golden

bench: $(STAMP)         ## measure, print beside goals and Heat's figures, and fail if a ratio has fallen behind (CASES: some cases)
	$(BIN)/python -m tools.bench $(CASES)

guests: $(STAMP)        ## run the tests with guests in IMAGE: debian, which is built first, or host, this machine's programs
	STOKER_TEST_GUEST_IMAGE=$(IMAGE) $(BIN)/pytest -n 0 -m guests -rs

guests-community: $(STAMP)  ## deploy templates of the community with guests (STOKER_TEMPLATE_CORPUS: their folder)
	$(BIN)/python -m tools.conformance.community

conformance: $(STAMP)   ## run the public test suite of SERVICE: heat, octavia … or all (GUESTS: an image, for its tests with guests)
	$(BIN)/python -m tools.conformance --service $(SERVICE) $(if $(GUESTS),--guests $(GUESTS))

console: $(STAMP)       ## walk through the web console in Chromium (PICTURES: a folder for its screenshots)
	$(BIN)/python -m tests.console.browser

playbook: $(STAMP)      ## run a playbook with Ansible's modules for stacks
	$(BIN)/python -m tools.conformance.playbook

rally: $(STAMP)         ## run Rally's scenarios for stacks
	$(BIN)/python -m tools.conformance.rally

horizon: $(STAMP)       ## walk over the pages for stacks of a real Horizon
	$(BIN)/python -m tools.conformance.horizon

takeover: $(STAMP)      ## take over the stacks of a real Heat (LAB_DIR: its folder, LAB_SCRIPTS: that of its scripts)
	$(BIN)/python -m tools.conformance.takeover

heat-plugins: $(STAMP)  ## use resource types that vendors wrote for Heat, installed from PyPI
	$(BIN)/python -m tools.conformance.heat_plugins

chaos: $(STAMP)         ## simulate crashes, then kill real processes, MINUTES long in all
	$(BIN)/python -m tools.chaos --minutes $(MINUTES)

scale: $(STAMP)         ## rehearse a cluster of 50 engines with a million resources, in virtual time (SCALE: options)
	$(BIN)/python -m tools.scale $(SCALE)

mutants: $(STAMP)       ## plant bugs in a copy of the sources, and print which suite of tests notices each (BUGS: words of names)
	$(BIN)/python -m tools.mutants $(BUGS)

realcloud: $(STAMP)     ## run all types, scenarios and operators' parts on the real services of LAB (HALVES: user, operator)
	@bad=0; for half in $(HALVES); do \
	  case $$half in user) module=tools.realcloud;; operator) module=tools.realcloud.operators;; *) echo "HALVES: user or operator, not $$half"; exit 2;; esac; \
	  $(BIN)/python -m $$module $(if $(LAB),--lab $(LAB)) $(REALCLOUD); status=$$?; \
	  [ $$status -le 1 ] || exit $$status; [ $$status -eq 0 ] || bad=1; \
	done; exit $$bad

images: $(STAMP)              ## build the container image without a daemon, and run it (PLACE: a folder of its own, which is kept)
	deploy/container/try-image.sh $(PLACE)
	PYTHON=$(BIN)/python deploy/kolla/try-image.sh $(PLACE)

recordings: $(STAMP)    ## record the answers of the real services of LAB (a folder) again, for the tests of the emulator
	$(BIN)/python -m tools.realcloud.differential $(if $(LAB),--lab $(LAB)) $(SERVICES)

release: $(STAMP)       ## build the distributions into dist/, with checksums and release notes, and check them
	rm -rf dist
	for folder in packages/stoker-foundation packages/openstack-emulator packages/stoker packages/stoker-heat-commands packages/stoker-heat-plugins packages/stoker-kubernetes; do $(BIN)/python -m build --outdir dist $$folder || exit 1; done
	$(BIN)/python -m contrib.vscode.pack dist/stoker-vscode.vsix
	$(BIN)/python -m tools.checks.release notes > dist/notes.md
	$(BIN)/python -m tools.checks.release sums dist
	$(BIN)/python -m tools.checks.release verify dist

docs: $(STAMP)          ## build the manual into docs/_build/html
	$(BIN)/sphinx-build -W -q docs docs/_build/html

pictures: $(STAMP)      ## make the manual's pictures and recordings of the terminal again, by running the program in tmux
	$(BIN)/python docs/_ext/pictures.py
	$(BIN)/python docs/_ext/recordings.py

man: $(STAMP)           ## write the manual pages from the programs' help
	$(MANUAL_PAGES)

vscode: $(STAMP)        ## pack the extension for VS Code into contrib/vscode/dist, and try it with Node.js if there is one
	$(BIN)/python -m contrib.vscode.pack
	$(BIN)/pytest -q -n 0 tests/vscode

help:                   ## list the targets
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/\1\t\2/p' Makefile | sort | expand -t 18

clean:                  ## remove the environments and what was built
	rm -rf $(VENV) .venv-conformance docs/_build .mypy_cache .ruff_cache .pytest_cache
