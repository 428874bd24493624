package strategy

import "testing"

// A container runs on although a later part of the command that started it failed, until a command
// stops it.
func TestContainerRunsUntilItIsStopped(t *testing.T) {
	start := command("1", "", "docker run -d --name pg -p 55432:5432 postgres:16 && psql -h localhost -c 'select 1'", "9c1f0ab7e2d4\npsql: error: connection to server at localhost, port 55432 failed")
	const runs = "started in the background: `docker run -d --name pg -p 55432:5432 postgres:16` (container pg); no end of it stands in this part [s4]"
	tells(t, long("Start it.", start...), []string{runs}, nil)
	tells(t, long("Start it.", append(start, command("2", "", "docker stop other", "other")...)...), []string{runs}, nil)
	tells(t, long("Start it.", append(start, command("2", "", "docker rm -f pg", "pg")...)...), nil, []string{"started in the background"})
	tells(t, long("Start it.", command("1", "", "docker run -d --name pg postgres:16", "docker: Error response from daemon: Conflict.")...), nil, []string{"started in the background"})
	tells(t, long("Start it.", command("1", "", "docker run --rm -it --name pg postgres:16 true", "9c1f0ab7e2d4")...), nil, []string{"started in the background"})
}
