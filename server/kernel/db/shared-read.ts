type Call<Item, Result> = PromiseWithResolvers<Result> & { item: Item }

/** Calls of one turn of the event loop share one read. If it fails, all of them fail. */
export class SharedRead<Item, Result> {
  #calls: Call<Item, Result>[] = []
  readonly #read: (items: Item[]) => Promise<Result[]>

  constructor(read: (items: Item[]) => Promise<Result[]>) {
    this.#read = read
  }

  /** Reads one item, together with the other calls of this turn. */
  call(item: Item): Promise<Result> {
    const call = { item, ...Promise.withResolvers<Result>() }
    if (this.#calls.push(call) === 1) setImmediate(() => this.#readAll())
    return call.promise
  }

  #readAll(): void {
    const calls = this.#calls.splice(0)
    const reading = this.#read(calls.map(({ item }) => item))
    calls.forEach((call, n) => void call.resolve(reading.then((all) => all[n] as Result)))
  }
}
