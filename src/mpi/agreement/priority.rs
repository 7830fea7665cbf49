//! Decides whether the component takes part in a communicator, and with which priority.

/// The priority of a component that the user names: above tuned (30), han (35) and inter (40), below self (75) and
/// cuda (78). The component cuda copies reduction operands out of device memory before it calls the component below.
const ACTIVE: i32 = 60;

/// The lowest priority that MPI accepts. It suffices where an info key puts the component first.
const LOWEST: i32 = 0;

/// Returns the component's priority on a communicator, or `None` to stay away.
///
/// * `given`: the parameter `coll_rustcoll_priority`, if the user set it, otherwise that of a rule file.
/// * `components`: the parameter `coll`, a list of components, or of excluded ones after a `^`.
/// * `preference`: the communicator's info key `ompi_comm_coll_preference`, a list that may end with excluded ones.
pub fn priority(given: Option<i32>, components: Option<&str>, preference: Option<&str>) -> Option<i32> {
    match given {
        Some(priority) => (priority >= 0).then_some(priority),
        None if components.is_some_and(names_rustcoll) => Some(ACTIVE),
        None => preference.is_some_and(names_rustcoll).then_some(LOWEST),
    }
}

fn names_rustcoll(list: &str) -> bool {
    list.split(',').map(str::trim).take_while(|name| !name.starts_with('^')).any(|name| name == "rustcoll")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inactive_unless_asked_for() {
        assert_eq!(priority(None, None, None), None);
        assert_eq!(priority(None, Some("tuned,basic"), Some("tuned")), None);
        assert_eq!(priority(None, Some("^rustcoll,han"), None), None);
    }

    #[test]
    fn naming_it_makes_it_active() {
        assert_eq!(priority(None, Some("rustcoll,tuned"), None), Some(ACTIVE));
        assert_eq!(priority(None, Some("tuned, rustcoll"), None), Some(ACTIVE));
        assert_eq!(priority(None, None, Some("rustcoll,^han")), Some(LOWEST));
    }

    #[test]
    fn an_explicit_priority_is_taken_as_it_is() {
        assert_eq!(priority(Some(5), Some("rustcoll"), None), Some(5));
        assert_eq!(priority(Some(0), None, None), Some(0));
        assert_eq!(priority(Some(-1), Some("rustcoll"), None), None);
    }
}
