// Command licences prints the page docs/licences.md: under which licence each module stands that a module of this
// repository compiles, its tests included, by the texts that are shipped with it.
//
//	licences CHECKOUT
//
// A licence that it does not know is an error, and so is one that binds what it is linked with, in a module that is to be
// imported. Modules that ship none are known, and the page says so.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const library = "github.com/straggler-go/straggler"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: licences CHECKOUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

// kinds are licences, with words of their texts. The first that fits is taken, and each text has one.
var kinds = []struct {
	name  string
	words []string
	binds bool // what is linked with it
}{
	{"FTL", []string{"Freetype-Go software is subject to your choice", "FreeType License"}, false}, // or GPL
	{"AGPL", []string{"GNU AFFERO GENERAL PUBLIC LICENSE"}, true},
	{"LGPL", []string{"GNU LESSER GENERAL PUBLIC LICENSE"}, true},
	{"GPL", []string{"GNU GENERAL PUBLIC LICENSE"}, true},
	{"MPL-2.0", []string{"Mozilla Public License", "2.0"}, false},
	{"Apache-2.0", []string{"Apache License", "Version 2.0"}, false},
	{"Apache-2.0", []string{"Licensed under the Apache License"}, false},
	{"CC-BY", []string{"Creative Commons Attribution"}, false},
	{"CC0-1.0", []string{"CC0 1.0"}, false},
	{"Unlicense", []string{"free and unencumbered software released into the public domain"}, false},
	{"ISC", []string{"Permission to use, copy, modify, and", "distribute this software"}, false},
	{"MIT", []string{"Permission is hereby granted, free of charge"}, false},
	{"BSD-3-Clause", []string{"Redistribution and use in source and binary forms", "either the name"}, false},
	{"BSD-2-Clause", []string{"Redistribution and use in source and binary forms"}, false},
}

// silent are modules that ship no licence.
var silent = []string{
	"github.com/cactus/go-statsd-client/statsd", // its repository has one, in the directory above
	"github.com/nexus-rpc/nexus-proto-annotations",
}

var isLicence = regexp.MustCompile(`(?i)^(li[cs]en[cs]e|copying|unlicen[cs]e)([-_.].*)?$`)

// module is one that somebody else has written.
type module struct {
	licences    map[string]bool
	shipped, in map[string]bool // modules of ours that compile it, and those that do for tests alone
}

func run(checkout string, w io.Writer) error {
	mods, err := gomods(checkout)
	if err != nil {
		return err
	}
	all := map[string]*module{}
	var faults []error
	for _, dir := range mods {
		for _, test := range []bool{false, true} {
			faults = append(faults, list(checkout, dir, test, all))
		}
	}
	var shipped, other [][]string
	for _, path := range slices.Sorted(maps.Keys(all)) {
		m := all[path]
		row := []string{path, strings.Join(slices.Sorted(maps.Keys(m.licences)), ", ")}
		switch known := slices.Contains(silent, path); {
		case row[1] == "" && known:
			row[1] = "**ships none**"
		case known:
			faults = append(faults, fmt.Errorf("%s ships a licence now", path))
		case row[1] == "":
			faults = append(faults, fmt.Errorf("%s ships no licence that is known", path))
		}
		if len(m.shipped) > 0 {
			shipped = append(shipped, append(row, strings.Join(slices.Sorted(maps.Keys(m.shipped)), ", ")))
		} else {
			other = append(other, append(row, strings.Join(slices.Sorted(maps.Keys(m.in)), ", ")))
		}
		for _, k := range kinds {
			if k.binds && m.licences[k.name] && len(m.shipped) > 0 {
				faults = append(faults, fmt.Errorf("%s is under the %s, and is shipped", path, k.name))
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	fmt.Fprintf(w, "# Licences\n\nThe library and its adapters are under the [Apache License 2.0](../LICENSE). `.ci/licences` makes this page from\n"+
		"the licence files of the modules that are compiled. CI fails if a licence changes.\n"+
		"The page leaves out `examples/kubernetes`, which compiles all of Kubernetes (Apache-2.0) and its dependencies.\n\n"+
		"## Modules that an adapter brings along\n\nThe library itself brings no other module along.\n\n")
	table(w, shipped)
	fmt.Fprint(w, "\n## Modules that only tests, demonstrations and commands of this repository compile\n\n")
	table(w, other)
	return nil
}

func table(w io.Writer, rows [][]string) {
	fmt.Fprint(w, "| module | licence | compiled by |\n|---|---|---|\n")
	for _, row := range rows {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
	}
}

// gomods lists the directories of the modules of a checkout, except that which compiles all of Kubernetes: CI has not its
// sources.
func gomods(checkout string) (dirs []string, err error) {
	out, err := exec.Command("git", "-C", checkout, "ls-files", "go.mod", "*/go.mod").Output()
	for name := range strings.Lines(string(out)) {
		if dir := filepath.Dir(strings.TrimSpace(name)); !strings.HasPrefix(dir, ".ci") && dir != "examples/kubernetes" {
			dirs = append(dirs, dir)
		}
	}
	return dirs, err
}

// list adds what a module of ours compiles.
func list(checkout, dir string, test bool, all map[string]*module) error {
	packages := []string{"./..."}
	if !test { // what others can import, and what that brings along
		names, err := goList(checkout, dir, "./...")
		if err != nil {
			return err
		}
		packages = slices.DeleteFunc(strings.Fields(string(names)), func(name string) bool {
			return strings.Contains(name, "/internal/")
		})
	}
	args := append([]string{"-deps", fmt.Sprintf("-test=%t", test), "-json=Dir,Module"}, packages...)
	out, err := goList(checkout, dir, args...)
	if err != nil {
		return err
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir    string
			Module *struct{ Path, Dir string }
		}
		if err := decoder.Decode(&p); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if p.Module == nil || strings.HasPrefix(p.Module.Path, library) || strings.HasPrefix(p.Module.Path, "straggler-") {
			continue
		}
		m := all[p.Module.Path]
		if m == nil {
			m = &module{licences: map[string]bool{}, shipped: map[string]bool{}, in: map[string]bool{}}
			all[p.Module.Path] = m
		}
		name := "`" + dir + "`"
		if m.in[name] = true; !test && !strings.HasPrefix(dir, "examples") {
			m.shipped[name] = true
		}
		for at := p.Dir; strings.HasPrefix(at, p.Module.Dir); at = filepath.Dir(at) {
			if err := m.read(at); err != nil {
				return err
			}
		}
	}
}

func goList(checkout, dir string, args ...string) ([]byte, error) {
	command := exec.Command("go", append([]string{"list"}, args...)...)
	command.Dir, command.Stderr = filepath.Join(checkout, dir), os.Stderr
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w", dir, err)
	}
	return out, err
}

// read looks for licences in a directory.
func (m *module) read(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() && e.Type() != fs.ModeSymlink || !isLicence.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		flat := strings.Join(strings.Fields(string(text)), " ")
		for _, k := range kinds {
			if !slices.ContainsFunc(k.words, func(w string) bool { return !strings.Contains(flat, w) }) {
				m.licences[k.name] = true
				break
			}
		}
	}
	return nil
}
