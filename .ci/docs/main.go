// Docs checks that the pages and the doc comments name what exists, and prints each fault with its file and line:
//
//   - a [Name] in a doc comment is declared;
//   - a link of a page leads to a file or a directory;
//   - a row of docs/papers has the cells that its verdict needs, and names code and tests that exist;
//   - the names of the code in the glossary and on the other pages are declared;
//   - docs/examples.md has the first sentence of each example, in the order of the packages;
//   - an example prints the line that the page of a package shows under its code.
//
// It runs at the top of the repository:
//
//	go run ./.ci/docs          checks
//	go run ./.ci/docs -index   writes docs/examples.md from the comments of the examples, then checks
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
)

func main() {
	log.SetFlags(0)
	index := flag.Bool("index", false, "write docs/examples.md from the comments of the examples")
	flag.Parse()
	if *index {
		r, err := read(os.DirFS("."))
		if err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(indexPage, []byte(r.index()), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	r, err := read(os.DirFS("."))
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range checks {
		count := c.run(r)
		fmt.Printf("%5d %s\n", count, c.of)
		if count < c.least {
			r.fault(c.of, 0, "found %d, want at least %d: the check does not see them", count, c.least)
		}
	}
	for _, fault := range r.faults {
		fmt.Println(fault)
	}
	if len(r.faults) > 0 {
		os.Exit(1)
	}
}

// checks are all checks. Each returns how many things it looked at; fewer than least are a fault, because then the check has
// lost sight of them.
var checks = []struct {
	of    string
	least int
	run   func(*repository) int
}{
	{"links in doc comments", 800, (*repository).docLinks},
	{"links of pages to files", 600, (*repository).pageLinks},
	{"rows of the papers' tables", 150, (*repository).paperRows},
	{"names of the code in the glossary", 30, (*repository).glossaryNames},
	{"names of the code on the other pages", 80, (*repository).pageNames},
	{"examples in the index", 100, (*repository).indexLines},
	{"printed lines on the pages of packages", 9, (*repository).printedLines},
}
