import { hash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { serialize } from 'node:v8';
import type { LogFiles, ReadableLogFile, WritableLogFile } from '../../src/event-log/log-files.ts';
import { FailurePlan } from './failing-log-files.ts';

/** A change that was not synced before a power cut. */
export interface UnsyncedChange {
  readonly kind: 'name' | 'write' | 'truncate';
  /** Bytes of a write; 1 for the other kinds. */
  readonly length: number;
  /** Index of the change among the changes of its kind, oldest first, and the number of these changes. */
  readonly index: number;
  readonly count: number;
}

/**
 * Determines what a power cut leaves of a change: the range of the bytes of a write that survive, and the end of the range as the minimum
 * file size. `[0, 0]`: nothing. `[length, length]`: the file has grown without its bytes. A name or a truncation has one "byte".
 */
export type Fate = (change: UnsyncedChange) => readonly [from: number, to: number];

/**
 * `dirty`: not synced. `clean`: after a failed sync. The process sees the change, no later sync writes it, and it may be on the disk or not.
 */
type SyncState = 'dirty' | 'clean' | 'durable';
type SyncOutcome = 'done' | 'failed';

type ContentChange =
  | { readonly kind: 'write'; readonly state: SyncState; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly state: SyncState; readonly size: number };

interface NameChange {
  readonly kind: 'name';
  readonly state: SyncState;
  readonly folder: string;
  /** Names that change atomically. A rename removes one name and adds another. */
  readonly names: readonly (readonly [path: string, id: number | null])[];
}

interface DiskFile {
  /** Content for the process. */
  readonly seen: Buffer;
  /** Content after a power cut without any of the changes. */
  readonly durable: Buffer;
  /** Changes since `durable`, in order. */
  readonly changes: readonly ContentChange[];
}

const folderId = 0;
const empty = Buffer.alloc(0);

/**
 * A disk in memory that behaves as badly as POSIX allows. Content becomes durable by syncing the file, and names by syncing their folder.
 * Until then, each change survives a power cut or not, independently of other changes. Values are never modified in place, so that a copy
 * is cheap.
 */
export class SimulatedDisk {
  #files = new Map<number, DiskFile>();
  #names = new Map<string, number>();
  #durableNames = new Map<string, number>();
  #nameChanges: readonly NameChange[] = [];
  #lastId = folderId;

  copy(): SimulatedDisk {
    const copy = new SimulatedDisk();
    copy.#files = new Map(this.#files);
    copy.#names = new Map(this.#names);
    copy.#durableNames = this.#durableNames;
    copy.#nameChanges = this.#nameChanges;
    copy.#lastId = this.#lastId;
    return copy;
  }

  /** Whether a file or folder has this name. */
  exists(path: string): boolean {
    return path === '/' || this.#names.has(path);
  }

  list(folder: string): string[] {
    this.#require(folder);
    return [...this.#names.keys()]
      .filter((path) => dirname(path) === folder)
      .map((path) => path.slice(folder.length + 1));
  }

  makeFolder(path: string): void {
    this.#changeNames(path, [[path, folderId]]);
  }

  /** The file of a name. */
  fileAt(path: string): number {
    return this.#require(path);
  }

  /** Creates a file, or empties an existing file. */
  create(path: string): number {
    const present = this.#names.get(path);
    if (present !== undefined) {
      this.truncate(present, 0);
      return present;
    }
    const id = ++this.#lastId;
    this.#files.set(id, { seen: empty, durable: empty, changes: [] });
    this.#changeNames(path, [[path, id]]);
    return id;
  }

  rename(from: string, to: string): void {
    const id = this.#require(from);
    this.#changeNames(to, [
      [from, null],
      [to, id],
    ]);
  }

  remove(path: string): void {
    this.#require(path);
    this.#changeNames(path, [[path, null]]);
  }

  contents(id: number): Buffer {
    return this.#file(id).seen;
  }

  write(id: number, offset: number, bytes: Uint8Array): void {
    this.#changeContents(id, { kind: 'write', state: 'dirty', offset, bytes: Buffer.from(bytes) });
  }

  truncate(id: number, size: number): void {
    this.#changeContents(id, { kind: 'truncate', state: 'dirty', size });
  }

  /** Syncs a file, or the writes within a range of its bytes. After a failed sync, later syncs do not write the changes. */
  datasync(id: number, outcome: SyncOutcome, [from, to]: readonly [number, number] = whole): void {
    const { seen, durable, changes } = this.#file(id);
    const isCovered = (change: ContentChange) =>
      to === Number.POSITIVE_INFINITY ||
      (change.kind === 'write' && change.offset >= from && change.offset + change.bytes.length <= to);
    const apply = (bytes: Buffer, change: ContentChange) => after(bytes, change, whole);
    const { base, rest } = applyDurable(synced(changes, outcome, isCovered), durable, apply);
    this.#files.set(id, { seen, durable: base, changes: rest });
  }

  syncFolder(folder: string, outcome: SyncOutcome): void {
    this.#require(folder);
    const changes = synced(this.#nameChanges, outcome, (change) => change.folder === folder);
    const { base, rest } = applyDurable(changes, this.#durableNames, withNames);
    this.#durableNames = base;
    this.#nameChanges = rest;
  }

  /** Returns the disk after a power cut. */
  afterPowerCut(fate: Fate): SimulatedDisk {
    const cut = new SimulatedDisk();
    cut.#lastId = this.#lastId;
    const unsynced = [...this.#files.values()].flatMap(({ changes }) => changes).filter(isUnsynced);
    const indices = { name: 0, write: 0, truncate: 0 };
    const counts = {
      name: this.#nameChanges.filter(isUnsynced).length,
      write: unsynced.filter(({ kind }) => kind === 'write').length,
      truncate: unsynced.filter(({ kind }) => kind === 'truncate').length,
    };
    const fateOf = ({ kind, state }: ContentChange | NameChange, length: number): readonly [number, number] =>
      state === 'durable' ? [0, length] : fate({ kind, length, index: indices[kind]++, count: counts[kind] });

    let names = this.#durableNames;
    for (const change of this.#nameChanges) if (fateOf(change, 1)[1] > 0) names = withNames(names, change);
    for (const [id, { durable, changes }] of this.#files) {
      let bytes = durable;
      for (const change of changes) {
        bytes = after(bytes, change, fateOf(change, change.kind === 'write' ? change.bytes.length : 1));
      }
      cut.#files.set(id, { seen: bytes, durable: bytes, changes: [] });
    }
    // Without a folder, its files are lost.
    const reachable = (path: string): boolean => path === '/' || (names.has(path) && reachable(dirname(path)));
    cut.#names = new Map([...names].filter(([path]) => reachable(path)));
    cut.#durableNames = new Map(cut.#names);
    return cut;
  }

  /** Returns the changes for which `afterPowerCut` calls a fate. */
  unsyncedChanges(): UnsyncedChange[] {
    const changes: UnsyncedChange[] = [];
    this.afterPowerCut((change) => {
      changes.push(change);
      return [0, 0];
    });
    return changes;
  }

  /** Returns a digest that is equal for disks with equal content. */
  fingerprint(): string {
    const changedIds = this.#nameChanges.flatMap(({ names }) => names.map(([, id]) => id));
    const named = new Set([...this.#names.values(), ...this.#durableNames.values(), ...changedIds]);
    const order = [...named].filter((id) => id !== null && id !== folderId).sort((a, b) => a! - b!);
    const numbered = (names: Iterable<readonly [string, number | null]>) =>
      [...names].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, id]) => [path, id && order.indexOf(id) + 1]);
    const changes = this.#nameChanges.map(({ state, names }) => [state, numbered(names)]);
    const files = order.map((id) => this.#file(id!));
    return hash('sha256', serialize([numbered(this.#names), numbered(this.#durableNames), changes, files]));
  }

  #changeNames(path: string, names: NameChange['names']): void {
    const folder = dirname(path);
    this.#require(folder);
    const change: NameChange = { kind: 'name', state: 'dirty', folder, names };
    this.#names = withNames(this.#names, change);
    this.#nameChanges = [...this.#nameChanges, change];
  }

  #changeContents(id: number, change: ContentChange): void {
    const { seen, durable, changes } = this.#file(id);
    this.#files.set(id, { seen: after(seen, change, whole), durable, changes: [...changes, change] });
  }

  #file(id: number): DiskFile {
    const file = this.#files.get(id);
    if (file === undefined) throw new Error(`no file ${id}`);
    return file;
  }

  #require(path: string): number {
    const id = path === '/' ? folderId : this.#names.get(path);
    if (id === undefined) throw Object.assign(new Error(`ENOENT: no such file, ${path}`), { code: 'ENOENT' });
    return id;
  }
}

const whole: readonly [number, number] = [0, Number.POSITIVE_INFINITY];

function isUnsynced({ state }: { readonly state: SyncState }): boolean {
  return state !== 'durable';
}

function synced<Change extends ContentChange | NameChange>(
  changes: readonly Change[],
  outcome: SyncOutcome,
  isCovered: (change: Change) => boolean,
): Change[] {
  const state: SyncState = outcome === 'done' ? 'durable' : 'clean';
  return changes.map((change) => (change.state === 'dirty' && isCovered(change) ? { ...change, state } : change));
}

/** Applies the durable changes before the first change that is not durable. */
function applyDurable<Change extends ContentChange | NameChange, Base>(
  changes: readonly Change[],
  durable: Base,
  apply: (base: Base, change: Change) => Base,
): { readonly base: Base; readonly rest: readonly Change[] } {
  const first = changes.findIndex(isUnsynced);
  const done = first === -1 ? changes : changes.slice(0, first);
  return { base: done.reduce(apply, durable), rest: changes.slice(done.length) };
}

function withNames(names: ReadonlyMap<string, number>, change: NameChange): Map<string, number> {
  const changed = new Map(names);
  for (const [path, id] of change.names) {
    if (id === null) changed.delete(path);
    else changed.set(path, id);
  }
  return changed;
}

/** Returns the bytes of a file after a change of which the range `[from, to)` survived. */
function after(bytes: Buffer, change: ContentChange, [from, to]: readonly [number, number]): Buffer {
  if (to <= 0) return bytes;
  if (change.kind === 'truncate') return resized(bytes, change.size);
  const end = Math.min(to, change.bytes.length);
  const changed = Buffer.from(resized(bytes, Math.max(bytes.length, change.offset + end)));
  changed.set(change.bytes.subarray(from, end), change.offset + from);
  return changed;
}

function resized(bytes: Buffer, size: number): Buffer {
  if (size <= bytes.length) return bytes.subarray(0, size);
  return Buffer.concat([bytes, Buffer.alloc(size - bytes.length)]);
}

/**
 * File operations on a simulated disk. They take turns of the event loop, so that records are appended during a write. They fail on request
 * in the worst way: a failing write writes half of its bytes, and after a failed sync no later sync writes the same data.
 */
export class SimulatedLogFiles extends FailurePlan implements LogFiles {
  readonly disk: SimulatedDisk;
  readonly #onStep: (step: string) => void;

  /** @param onStep called before each change and sync, and in the middle of each write */
  constructor(disk: SimulatedDisk, onStep: (step: string) => void = () => {}) {
    super();
    this.disk = disk;
    this.#onStep = onStep;
  }

  createFolder(folder: string): void {
    const parent = dirname(folder);
    if (parent !== '/') this.createFolder(parent);
    if (!this.disk.exists(folder)) {
      this.#onStep(`make ${basename(folder)}`);
      this.disk.makeFolder(folder);
    }
    this.#onStep(`sync the folder of ${basename(folder)}`);
    this.disk.syncFolder(parent, 'done');
  }

  listFiles(folder: string): string[] {
    return this.disk.list(folder);
  }

  openForReading(path: string): ReadableLogFile {
    const id = this.disk.fileAt(path);
    return {
      size: () => this.disk.contents(id).length,
      read: (target, position) => this.disk.contents(id).copy(target, 0, position),
      close: () => {},
    };
  }

  async createFile(path: string): Promise<WritableLogFile> {
    this.#onStep(`create ${basename(path)}`);
    this.check('create');
    return this.#writable(path, this.disk.create(path));
  }

  async openForWriting(path: string): Promise<WritableLogFile> {
    return this.#writable(path, this.disk.fileAt(path));
  }

  async rename(from: string, to: string): Promise<void> {
    this.#onStep(`rename ${basename(from)}`);
    this.check('rename');
    this.disk.rename(from, to);
    await nextTurn();
  }

  async remove(path: string): Promise<void> {
    this.#onStep(`remove ${basename(path)}`);
    this.disk.remove(path);
    await nextTurn();
  }

  async syncFolder(folder: string): Promise<void> {
    this.#onStep('sync the folder');
    await nextTurn();
    this.#sync('syncFolder', (outcome) => this.disk.syncFolder(folder, outcome));
  }

  #sync(step: 'datasync' | 'syncFolder', sync: (outcome: SyncOutcome) => void): void {
    const failure = this.nextFailure(step);
    sync(failure === null ? 'done' : 'failed');
    if (failure !== null) throw failure;
  }

  #writable(path: string, id: number): WritableLogFile {
    const name = basename(path);
    const write: WritableLogFile['write'] = async (source, length, position) => {
      const half = Math.floor(length / 2);
      this.#onStep(`write ${length} bytes at ${position} of ${name}`);
      this.disk.write(id, position, source.subarray(0, half));
      await nextTurn();
      this.#onStep(`write the rest of ${length} bytes at ${position} of ${name}`);
      this.check('write');
      this.disk.write(id, position + half, source.subarray(half, length));
    };
    return {
      write,
      writeAndSync: async (source, length, position) => {
        await write(source, length, position);
        this.#onStep(`sync ${length} bytes at ${position} of ${name}`);
        this.#sync('datasync', (outcome) => this.disk.datasync(id, outcome, [position, position + length]));
      },
      datasync: async () => {
        this.#onStep(`sync ${name}`);
        await nextTurn();
        this.#sync('datasync', (outcome) => this.disk.datasync(id, outcome));
      },
      truncate: async (size) => {
        this.#onStep(`truncate ${name} to ${size}`);
        this.check('truncate');
        this.disk.truncate(id, size);
      },
      close: async () => {},
    };
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
