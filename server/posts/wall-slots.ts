/** The wall's total is spread over this many rows (migration 001). */
export const WALL_SLOTS = 16
