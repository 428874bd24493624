package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// After a rollback, a release is not deployed any more. A later deployment of a release ends the
// rollback.
func TestReleaseThatWasRolledBackIsNotDeployed(t *testing.T) {
	up := command("1", "", "helm upgrade shop ./chart -n stage --set image.tag=2.4.1", "STATUS: deployed\nREVISION: 18")
	back := command("2", "", "helm rollback shop 17 -n stage", "Rollback was a success! Happy Helming!")
	again := command("3", "", "helm upgrade shop ./chart -n stage --set image.tag=2.4.2", "STATUS: deployed\nREVISION: 20")
	all := append(append(append([]message.Message{}, up...), back...), again...)
	tells(t, long("Deploy 2.4.1.", all...), []string{"REVISION: 18 (then rolled back [s6])", "Happy Helming! (then deployed again [s8])", "REVISION: 20 (do not repeat)"}, nil)
	tells(t, long("Deploy 2.4.1.", append(up, command("2", "", "helm rollback cart 3 -n stage", "Rollback was a success! Happy Helming!")...)...), []string{"REVISION: 18 (do not repeat)"}, nil)
	set := command("1", "", "kubectl set image deployment/shop shop=shop:2", "deployment.apps/shop image updated")
	tells(t, long("Deploy 2.", append(set, command("2", "", "kubectl rollout undo deploy/shop", "deployment.apps/shop rolled back")...)...), []string{"(then rolled back [s6])"}, nil)

	in := long("Deploy 2.4.1.", up...)
	then := long("Go on.", back...)
	then.Previous, then.First = write4(t, in), 10
	if text := write4(t, then); !strings.Contains(text, "REVISION: 18 (then rolled back [s13])") {
		t.Errorf("the release is stated in another way:\n%s", text)
	}
}
