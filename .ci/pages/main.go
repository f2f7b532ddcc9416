// Pages runs the commands whose output the pages quote, and compares. A page names the command in a comment above the
// quoted block, which is a fenced block or a table:
//
//	<!-- printed by: go run ./examples/guide -->
//
// "printed by, in minutes:" marks a command that takes minutes, and "not run: REASON" a block that nobody can print here.
// A fenced block whose first line is "$ COMMAND" needs no comment. Commands run in bash, at the top of the repository.
// Each line of a block must be printed, in the order of the page; a line "..." stands for lines that are left out.
//
//	go run ./.ci/pages                runs the commands that take seconds
//	go run ./.ci/pages -minutes       runs the commands that take minutes, too
//	go run ./.ci/pages -refresh FILE  writes what the commands print into the pages; without FILE, into all
//
// A refresh finds the block by its first line, or by the first word of that line. It replaces the block by as many
// paragraphs as the page has, so that a table may have other rows than before. Read the difference: the text around a
// block may name its figures.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// block is a quoted output.
type block struct {
	page     string
	from, to int // the lines of the page that are quoted
	command  string
	minutes  bool // the command takes minutes
}

const (
	printedBy = "<!-- printed by: "
	minutesBy = "<!-- printed by, in minutes: "
	leftOut   = "..."
)

func main() {
	log.SetFlags(0)
	minutes := flag.Bool("minutes", false, "also run the commands that take minutes")
	refresh := flag.Bool("refresh", false, "write what the commands print into the pages")
	flag.Parse()
	pages := flag.Args()
	if len(pages) == 0 {
		list, err := exec.Command("git", "ls-files", "*.md").Output()
		if err != nil {
			log.Fatal(err)
		}
		pages = strings.Fields(string(list))
	}
	printed, wrong, count := map[string][]string{}, 0, 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			log.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		blocks := blocksOf(page, lines)
		slices.Reverse(blocks) // a refresh may change the number of lines below a block
		for _, b := range blocks {
			if b.minutes && !*minutes {
				continue
			}
			if printed[b.command] == nil {
				printed[b.command] = run(b.command)
			}
			count++
			quoted, output := lines[b.from:b.to], printed[b.command]
			if line := missing(quoted, output); line != "" && *refresh {
				lines = slices.Replace(lines, b.from, b.to, fresh(quoted, output)...)
			} else if line != "" {
				wrong++
				fmt.Printf("%s:%d quotes a line that the command does not print there:\n  $ %s\n  %s\n", page, b.from+1, b.command, line)
			}
		}
		if *refresh {
			if err := os.WriteFile(page, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
				log.Fatal(err)
			}
		}
	}
	fmt.Printf("%d blocks of %d commands, %d wrong\n", count, len(printed), wrong)
	if wrong > 0 || count == 0 {
		os.Exit(1)
	}
}

// blocksOf returns the quoted outputs of a page.
func blocksOf(page string, lines []string) (all []block) {
	for i, line := range lines {
		b := block{page: page}
		command, short := strings.CutPrefix(line, printedBy)
		if !short {
			command, b.minutes = strings.CutPrefix(line, minutesBy)
		}
		switch {
		case short || b.minutes:
			b.command = strings.TrimSuffix(command, " -->")
			b.from = i + 1
			for b.from < len(lines) && lines[b.from] == "" {
				b.from++
			}
		case line == "```" && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "$ ") &&
			(i == 0 || !strings.HasPrefix(lines[i-1], "<!-- ")):
			b.command, b.from = lines[i+1][2:], i
		default:
			continue
		}
		if b.from >= len(lines) {
			log.Fatalf("%s:%d names a command, and no block follows", page, i+1)
		}
		last := ""
		if strings.HasPrefix(lines[b.from], "```") {
			b.from, last = b.from+1, "```"
			if strings.HasPrefix(lines[b.from], "$ ") {
				b.from++
			}
		}
		for b.to = b.from; b.to < len(lines) && lines[b.to] != last; b.to++ {
		}
		if b.to == b.from {
			log.Fatalf("%s:%d names a command, and its block is empty", page, i+1)
		}
		all = append(all, b)
	}
	return all
}

// run returns the lines that a command prints. A command that fails ends the program.
func run(command string) []string {
	fmt.Println("$", command)
	var said bytes.Buffer
	c := exec.Command("bash", "-c", "set -o pipefail; "+command)
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		log.Fatalf("%s: %v\n%s", command, err, said.String())
	}
	lines := strings.Split(string(out), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// missing returns the first quoted line that is not printed after the lines before it; "" if there is none.
func missing(quoted, output []string) string {
	for _, line := range quoted {
		if line == "" || line == leftOut {
			continue
		}
		at := slices.Index(output, strings.TrimRight(line, " "))
		if at < 0 {
			return line
		}
		output = output[at+1:]
	}
	return ""
}

// fresh returns the output that replaces a quoted block.
func fresh(quoted, output []string) []string {
	at := slices.Index(output, quoted[0])
	if at < 0 {
		first := strings.Fields(quoted[0])[0]
		at = slices.IndexFunc(output, func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), first) })
	}
	if at < 0 {
		log.Fatalf("no line of the output begins as %q", quoted[0])
	}
	end, paragraphs := at, 1
	for _, line := range quoted {
		if line == "" {
			paragraphs++
		}
	}
	for ; end < len(output); end++ {
		if output[end] == "" {
			paragraphs--
		}
		if paragraphs == 0 {
			break
		}
	}
	for end > at && output[end-1] == "" {
		end--
	}
	return output[at:end]
}
