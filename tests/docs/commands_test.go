// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"cmp"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// sources returns the text of each page by name.
func sources(t *testing.T) (root string, texts map[string]string) {
	t.Helper()
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	pages, err := pagesOf(os.DirFS(root), []string{"README.md", "CONTRIBUTING.md", "docs", "examples"})
	g.Expect(err).NotTo(HaveOccurred())
	texts = map[string]string{}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, page))
		g.Expect(err).NotTo(HaveOccurred())
		texts[page] = string(text)
	}
	return root, texts
}

// makeCommand is one in a line of a block, or in marks: what comes after the word make, up to another command or a comment.
var makeCommand = regexp.MustCompile("(?m)(?:^ *|`)(?:[A-Z_]+=\\S+ )*make ([^`\n#&|;]+)(?:$|[`#&|;])")

// TestMakeHasWhatPagesTellToMake looks up each target in the Makefile.
func TestMakeHasWhatPagesTellToMake(t *testing.T) {
	g := NewWithT(t)
	root, texts := sources(t)
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	g.Expect(err).NotTo(HaveOccurred())
	var targets []string
	for _, found := range regexp.MustCompile(`(?m)^([a-z0-9-]+):`).FindAllStringSubmatch(string(makefile), -1) {
		targets = append(targets, found[1])
	}
	found := map[string]bool{}
	for page, text := range texts {
		for _, command := range makeCommand.FindAllStringSubmatch(text, -1) {
			for _, word := range strings.Fields(command[1]) {
				if strings.Contains(word, "=") {
					continue
				}
				found[word] = true
				g.Expect(targets).To(ContainElement(word), "%s: make %s", page, command[1])
			}
		}
	}
	for _, target := range []string{"demo", "test", "e2e", "lint", "verify", "image"} {
		g.Expect(found).To(HaveKey(target), "a mistake in finding the commands would pass for all of them being right")
	}
}

// TestPathsOnPagesAreThere looks for each that begins with a directory of this repository, in commands, in text and in tables.
func TestPathsOnPagesAreThere(t *testing.T) {
	g := NewWithT(t)
	root, texts := sources(t)
	// Paths in links have their own test.
	name := regexp.MustCompile("(?m)(?:^|[ `=]|//)((?:api|cmd|config|docs|examples|hack|internal|tests)/[\\w./-]*\\w)/?[.]?(?:[` ,:;)?|]|$)")
	var paths int
	var gone []string
	for page, text := range texts {
		for _, found := range name.FindAllStringSubmatch(text, -1) {
			paths++
			if _, err := os.Stat(filepath.Join(root, found[1])); err != nil {
				gone = append(gone, page+": "+found[1])
			}
		}
	}
	g.Expect(gone).To(BeEmpty())
	g.Expect(paths).To(BeNumerically(">=", 100))
}

// TestTestsOnPagesAreThere looks for each test that a page names as proof, or as one to run.
func TestTestsOnPagesAreThere(t *testing.T) {
	g := NewWithT(t)
	root, texts := sources(t)
	there := testsOf(g, root)
	found := map[string]bool{}
	for page, text := range texts {
		for _, name := range regexp.MustCompile(`\bTest[A-Z]\w*`).FindAllString(text, -1) {
			found[name] = true
			g.Expect(there[name]).To(BeTrue(), "%s: %s", page, name)
		}
	}
	g.Expect(len(found)).To(BeNumerically(">=", 40))
}

// testsOf returns the names of all tests of the repository.
func testsOf(g *WithT, root string) map[string]bool {
	names := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	g.Expect(fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && slices.Contains([]string{".git", "bin"}, entry.Name()) {
			return cmp.Or(err, fs.SkipDir)
		}
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		for _, found := range declared.FindAllStringSubmatch(string(text), -1) {
			names[found[1]] = true
		}
		return err
	})).To(Succeed())
	return names
}

func TestTheHelpOfMakeFitsATerminal(t *testing.T) {
	g := NewWithT(t)
	root, _ := sources(t)
	command := exec.CommandContext(t.Context(), "make", "--no-print-directory", "help")
	command.Dir = root
	help, err := command.Output()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(help)).To(ContainSubstring("  test "))
	for line := range strings.Lines(string(help)) {
		g.Expect(len(strings.TrimSpace(line))).To(BeNumerically("<=", 78), line)
	}
}

// dryRun returns what make would run for a target in a user's environment.
func dryRun(t *testing.T, root, target string) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "make", "--dry-run", target)
	command.Dir = root
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "MAKE") || strings.HasPrefix(variable, "MFLAGS")
	})
	output, err := command.Output()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return strings.Split(string(output), "\n")
}

// TestTheCommandsOfTheREADME are the two that a new user types: the demo is the program that tests/demo tests, and the tests are those
// of each package that has any.
func TestTheCommandsOfTheREADME(t *testing.T) {
	g := NewWithT(t)
	root, texts := sources(t)
	var commands []string
	for _, found := range regexp.MustCompile(`(?m)^    (make .*)$`).FindAllStringSubmatch(texts["README.md"], -1) {
		commands = append(commands, found[1])
	}
	g.Expect(commands).To(Equal([]string{"make demo", "make test"}))
	g.Expect(dryRun(t, root, "demo")).To(ContainElement(HaveSuffix(" go run ./tests/demo")))
	tested := testedBy(dryRun(t, root, "test"))
	g.Expect(tested).NotTo(BeEmpty())
	var packages int
	g.Expect(fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && slices.Contains([]string{".git", "bin", "testdata", "node_modules"}, entry.Name()) {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(name, "_test.go") {
			packages++
			g.Expect(covered(tested, path.Dir(name))).To(BeTrue(), "make test leaves out %s", name)
		}
		return err
	})).To(Succeed())
	g.Expect(packages).To(BeNumerically(">=", 100))
}

// testedBy returns the packages that go test runs for, relative to the root of the repository.
func testedBy(commands []string) (tested []string) {
	for _, command := range commands {
		within := "."
		if found := regexp.MustCompile(`^cd (\S+) && `).FindStringSubmatch(command); found != nil {
			within = found[1]
		}
		_, args, found := strings.Cut(command, "go test ")
		for word := range strings.FieldsSeq(args) {
			if found && (word == "." || strings.HasPrefix(word, "./")) {
				tested = append(tested, path.Join(within, word))
			}
		}
	}
	return tested
}

// covered reports whether a pattern matches the directory.
func covered(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		above, all := strings.CutSuffix(pattern, "/...")
		return pattern == dir || all && (dir == above || strings.HasPrefix(dir, above+"/"))
	})
}

// TestNoPageTakesAnImageThatIsNotThere: there is no release, so that a section with a command or a file that takes an image of
// this project says where it comes from until then.
func TestNoPageTakesAnImageThatIsNotThere(t *testing.T) {
	g := NewWithT(t)
	_, texts := sources(t)
	image := regexp.MustCompile(`(?m)^.*(?:ghcr\.io/flux-pulumi/(?:manifests/)?pulumi-controller:|oci://ghcr\.io/flux-pulumi/|--image-variant=\w).*$`)
	taken := 0
	for page, text := range texts {
		for part := range strings.SplitSeq(text, "\n#") {
			for _, command := range image.FindAllString(part, -1) {
				taken++
				g.Expect(part).To(MatchRegexp(`(?i)\breleases?\b|\bbuil[dt]\b`), "%s: %s", page, command)
			}
		}
	}
	g.Expect(taken).To(BeNumerically(">=", 10))
}

// TestTheVariantThatIsBuiltIsInstalled compares the commands that build, push and install a variant of the image, and looks
// for each target that a page builds in the Dockerfile.
func TestTheVariantThatIsBuiltIsInstalled(t *testing.T) {
	g := NewWithT(t)
	root, texts := sources(t)
	commands := section(texts["docs/image.md"], "### Build a variant")
	built := regexp.MustCompile(`docker buildx build --target (\S+) --tag (\S+):(\S+)-(\S+) --load \.`).FindStringSubmatch(commands)
	g.Expect(built).NotTo(BeNil())
	g.Expect(built[4]).To(Equal(built[1]))
	g.Expect(commands).To(ContainSubstring("docker push " + built[2] + ":" + built[3] + "-" + built[1] + "\n"))
	g.Expect(commands).To(ContainSubstring("flux-pulumi install --image=" + built[2] + " --tag=" + built[3] + " --image-variant=" + built[1] + "\n"))

	dockerfile, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	g.Expect(err).NotTo(HaveOccurred())
	targets := 0
	for page, text := range texts {
		for _, target := range regexp.MustCompile(`docker buildx build --target (\S+) `).FindAllStringSubmatch(text, -1) {
			targets++
			g.Expect(string(dockerfile)).To(MatchRegexp(`(?m)^FROM .* AS `+target[1]+`$`), page)
		}
	}
	g.Expect(targets).To(BeNumerically(">=", 2))
}
