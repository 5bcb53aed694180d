package contrib

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// selector is a metric in an expression, with the labels that it is selected by.
type selector struct {
	metric   string
	matchers []matcher
}

type matcher struct{ label, operator, value string }

// references are the names in an expression.
type references struct {
	selectors []selector
	grouping  []string // labels after by, without, on, ignoring, group_left, group_right
}

var promqlToken = regexp.MustCompile(`^(?:` +
	`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'` + // strings
	`|\[[^\]]*\]` + // ranges
	`|[0-9][0-9a-zA-Z.]*` + // numbers and durations
	`|[a-zA-Z_:][a-zA-Z0-9_:]*` +
	`|=~|!~|!=|==|>=|<=|[-+*/%^<>=(){},@])`)

var (
	groupingWords = []string{"by", "without", "on", "ignoring", "group_left", "group_right"}
	operatorWords = []string{"and", "or", "unless", "offset", "bool", "atan2", "start", "end", "inf", "nan"}
)

// parsePromQL returns the names in an expression. It knows as much of the
// language as that takes.
func parsePromQL(expr string) (references, error) {
	var tokens []string
	for rest := strings.TrimSpace(expr); rest != ""; rest = strings.TrimSpace(rest) {
		token := promqlToken.FindString(rest)
		if token == "" {
			return references{}, fmt.Errorf("unknown token at %q", rest)
		}
		tokens = append(tokens, token)
		rest = rest[len(token):]
	}
	at := func(i int) string {
		if i < len(tokens) {
			return tokens[i]
		}
		return ""
	}
	var refs references
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case !isName(t):
		case slices.Contains(groupingWords, t):
			if at(i+1) != "(" {
				return refs, fmt.Errorf("%s without labels", t)
			}
			for i += 2; at(i) != ")"; i++ {
				if isName(at(i)) {
					refs.grouping = append(refs.grouping, at(i))
				} else if at(i) != "," {
					return refs, fmt.Errorf("%q among labels", at(i))
				}
			}
		case slices.Contains(operatorWords, t), at(i+1) == "(", slices.Contains(groupingWords, at(i+1)):
			// A word of the language, or a function or aggregation.
		default:
			s := selector{metric: t}
			if at(i+1) == "{" {
				for i += 2; at(i) != "}"; i++ {
					if at(i) == "," {
						continue
					}
					if !isName(at(i)) || len(at(i+2)) < 2 {
						return refs, fmt.Errorf("selector of %s at %q", t, at(i))
					}
					value := at(i + 2)
					s.matchers = append(s.matchers, matcher{at(i), at(i + 1), value[1 : len(value)-1]})
					i += 2
				}
			}
			refs.selectors = append(refs.selectors, s)
		}
	}
	return refs, nil
}

func isName(t string) bool {
	return t != "" && (t[0] == '_' || t[0] == ':' || t[0] >= 'a' && t[0] <= 'z' || t[0] >= 'A' && t[0] <= 'Z')
}
