# Copyright (c) 2026, the nemotron.vllm contributors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The two commands of a newcomer are `make demo` and `make test`; both do all their own set-up.

.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
REQUIREMENTS := tests/requirements/dev.txt
STAMP := $(VENV)/.installed
# Scenarios of molecule and files of tests/runner, the longest first; `make servers JOBS_ON_SERVERS=default` runs one.
JOBS_ON_SERVERS ?= test_site test_source nvidia_driver default nemotron_serve vllm_build test_refusals version_triple \
	systemd_unit conda_env test_preflight droplets
# The same for what needs a kernel, a boot loader or Secure Boot of its own: virtual machines, which take minutes.
JOBS_ON_VMS ?= cgroup_v1 secure_boot

export PATH := $(CURDIR)/$(BIN):$(PATH)
export ANSIBLE_COLLECTIONS_PATH := $(CURDIR)/collections

.PHONY: help setup models demo demo-ssh demo-down test lint unit sanity servers test-vm droplets-down locks releases bench clean

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## Install what the checks and the demo need (Debian packages, .venv)

$(STAMP): $(REQUIREMENTS) tools/host_packages
	@tools/host_packages
	@echo "== Installing the development tools into $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement $(REQUIREMENTS)
	@touch $@

models: $(STAMP) ## Make the two test models and fetch the CPU build of torch into the cache
	@tests/models/prepare

demo: models ## Bring up a local server, deploy to it, ask it a question
	@$(BIN)/python tools/demo.py

demo-ssh: ## Look around on the demo's server
	@molecule/common/droplet ssh demo

demo-down: ## Remove the demo's server
	@molecule/common/droplet down demo

test: lint unit sanity servers test-vm ## Run every check
	@echo "== All checks passed"

lint: $(STAMP) ## Formatting, types, Ansible rules, documentation
	@tests/lint

unit: $(STAMP) ## Unit tests
	@echo "== Unit tests"
	@$(BIN)/pytest --quiet

sanity: $(STAMP) ## ansible-test sanity
	@tests/sanity

servers: models ## Scenarios of molecule and runs through ansible-runner, on local servers
	@tests/servers $(JOBS_ON_SERVERS)

test-vm: $(STAMP) ## Scenarios that boot kernels of their own, on virtual machines
	@tools/host_packages vm
	@tests/servers $(JOBS_ON_VMS)

droplets-down: ## Remove every local server
	@molecule/common/droplet down-all

locks: $(STAMP) ## Refresh the locks: Python environments of the collection and of the development tools
	@tools/locks

releases: $(STAMP) ## Refresh the tables of vLLM's releases and variables from their wheels
	@$(BIN)/python tools/record_vllm_releases.py
	@$(BIN)/ruff format --quiet plugins/module_utils/_vllm_releases.py plugins/module_utils/_vllm_variables.py

bench: models ## Timings of site.yml against their floors (slow; prints medians)
	@benchmarks/run

clean: droplets-down ## Remove the local servers, the tools and their caches in this folder
	@rm -rf $(VENV) .cache .mypy_cache .pytest_cache .ruff_cache .ansible
