// Command serve runs the stand-in as a process. It prints its URL, and ends when
// its standard input is closed, so it also ends with the process that started it.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/agentcompact/compact/tools/s3/standin"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Println("http://" + l.Addr().String())
	log.Fatal(http.Serve(l, standin.New()))
}
