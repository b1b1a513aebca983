import type { Mode } from '../../src/index.ts';
import type { SessionRecord } from './session-record.ts';

/** The sessions of one experiment: those whose creation was answered, and those that may exist without our knowing. */
export class TagBook {
  readonly tag: string;
  readonly mode: Mode;
  readonly sessions: SessionRecord[] = [];
  /** Sessions that a restart has shown to exist, of creations that went unanswered. */
  orphans = 0;
  /** Creations under way or unanswered: each may have made one session, none may have made two. */
  unresolved = 0;

  constructor(tag: string, mode: Mode) {
    this.tag = tag;
    this.mode = mode;
  }

  /** Sessions that must exist. */
  get certain(): number {
    return this.sessions.length + this.orphans;
  }

  /** Sessions that may exist. */
  get possible(): number {
    return this.certain + this.unresolved;
  }

  begin(): void {
    this.unresolved++;
  }

  created(session: SessionRecord): void {
    this.unresolved--;
    this.sessions.push(session);
  }

  refused(): void {
    this.unresolved--;
  }

  /** Takes what a restarted server says when no creation is under way. */
  settle(sessionsTotal: number): void {
    if (sessionsTotal < this.certain || sessionsTotal > this.possible) {
      throw new Error(
        `the tag ${this.tag} (${this.mode}) has ${sessionsTotal} sessions, where it may have ${this.certain} to ${this.possible}`,
      );
    }
    this.orphans = sessionsTotal - this.sessions.length;
    this.unresolved = 0;
  }
}
