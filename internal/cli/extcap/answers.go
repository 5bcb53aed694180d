package extcap

import (
	_ "embed"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/render/filter"
)

// helpPage is what the help button of Wireshark opens.
const helpPage = "https://github.com/lshark/lshark/blob/main/docs/wireshark.md"

// linkTypes is the answer to --extcap-dlts. The type of frames is that of the
// interface that is captured; the file names it.
//
//go:embed answers/dlts
var linkTypes string

// The answers to --extcap-config. A @ stands for the interfaces of this host.
var (
	//go:embed answers/settings.local
	localSettings string
	//go:embed answers/settings.remote
	remoteSettings string
)

func interfaces(version string) string {
	text := fmt.Sprintf("extcap {version=%s}{help=%s}{display=Lustre}\n", version, helpPage)
	if runtime.GOOS == "linux" { // elsewhere nothing can be captured live
		text += "interface {value=" + localInterface + "}{display=Lustre (lshark)}\n"
	}
	return text + "interface {value=" + remoteInterface + "}{display=Lustre remote (lshark over ssh)}\n"
}

func settings(iface string) (string, error) {
	if iface == remoteInterface {
		return remoteSettings, nil
	}
	values, err := interfaceValues()
	return strings.Replace(localSettings, "@\n", values, 1), err
}

// settingValues returns the answer to --extcap-reload-option.
func settingValues(iface, name string) (string, error) {
	if iface == localInterface && strings.TrimLeft(name, "-") == "interface" {
		return interfaceValues()
	}
	return "", exit.Usagef("--extcap-reload-option %s: no values to list", name)
}

func interfaceValues() (string, error) {
	list, err := capture.Interfaces()
	text := "value {arg=0}{value=any}{display=all interfaces}{default=true}\n"
	for _, i := range list {
		if i.Up {
			text += interfaceValue(&i)
		}
	}
	return text, err
}

// plain replaces what would end a value or a line. The name of an interface may have it.
var plain = strings.NewReplacer("{", "(", "}", ")", "\n", " ", "\r", " ")

func interfaceValue(i *capture.Interface) string {
	name := plain.Replace(i.Name)
	display := name
	for _, a := range i.Addresses {
		display += " " + a.Addr().String()
	}
	return fmt.Sprintf("value {arg=0}{value=%s}{display=%s}{default=false}\n", name, display)
}

// filterProblem returns the answer to a filter that is to be checked: what is wrong
// with it, nothing for a correct one. Wireshark shows the first line.
func filterProblem(display string) (string, error) {
	_, err := flags.Messages(display)
	if err == nil {
		return "", nil
	}
	var syntax *filter.Error
	if !errors.As(err, &syntax) {
		return err.Error() + "\n", nil
	}
	lines := syntax.Lines()
	if syntax.Hint != "" {
		lines[0] += "; " + syntax.Hint
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n") + "\n", nil
}
