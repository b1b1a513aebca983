/** Says on stderr what is being done: one line that is rewritten on a terminal, one line a step elsewhere. */
export class Progress {
  readonly #stream: NodeJS.WriteStream;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  step(text: string): void {
    this.#stream.write(this.#stream.isTTY ? `\r\x1b[K${text}` : `${text}\n`);
  }

  /** Ends the rewriting with a line that stays. */
  done(text: string): void {
    this.#stream.write(this.#stream.isTTY ? `\r\x1b[K${text}\n` : `${text}\n`);
  }
}
